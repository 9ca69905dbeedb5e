-- Delivers one pending entry again to a consumer, if it is its own or its lease has run out.
--
-- KEYS: stream  stream  trimmed by the janitor, never here
-- ARGV: group, consumer, lease in ms, entry id
-- Returns {attempt, {field, value, ...}}; {0} for an entry that was deleted while pending; nothing if not to be had.

local stream = KEYS[1]
local group, consumer, lease, id = unpack(ARGV)

local pending = redis.call('XPENDING', stream, group, id, id, 1)[1]
if not pending or (pending[2] ~= consumer and pending[3] < tonumber(lease)) then
  return false
end

if #redis.call('XRANGE', stream, id, id) == 0 then
  redis.call('XACK', stream, group, id)
  return {0}
end

local entry = redis.call('XCLAIM', stream, group, consumer, 0, id)[1]
return {pending[4] + 1, entry[2]}

-- Puts a dead letter back onto its stream, removes the letter and clears the error of its receipt, in one step: when
-- it is repeated after a lost reply there is no letter any more, and nothing happens.
--
-- KEYS: dead     stream  dead letters of the partition; purged by the operator, shortened here
--       stream   stream  where the message had failed; trimmed by the janitor
--       receipt  hash    of the event, if it could be read; written by accept.lua, expires by itself
-- ARGV: letter id, id of the message's first entry, id the receipt must name ('' for any), now in ms
-- Returns 'redriven'; 'gone' without a letter; 'superseded' if the event id was accepted anew since, for then the
-- letter's old content must not be written over the new one.

local dead, stream, receipt = unpack(KEYS)
local id, first_id, expected, now = unpack(ARGV)

local letter = redis.call('XRANGE', dead, id, id)[1]
if not letter then
  return 'gone'
end
local accepted = receipt and redis.call('HGET', receipt, 'stream_id')
if accepted and expected ~= '' and accepted ~= expected then
  return 'superseded'
end

local fields = {'first_id', first_id}
for at = 1, #letter[2], 2 do
  local name = letter[2][at]
  if name ~= 'first_id' and string.sub(name, 1, 5) ~= 'dead_' then
    fields[#fields + 1] = name
    fields[#fields + 1] = letter[2][at + 1]
  end
end

-- First the copy: were memory short, this is the command that fails, and the letter stays.
redis.call('XADD', stream, '*', unpack(fields))
redis.call('XDEL', dead, id)
if accepted then
  redis.call('HDEL', receipt, 'error')
  redis.call('HSET', receipt, 'redriven_at', now)
end
return 'redriven'

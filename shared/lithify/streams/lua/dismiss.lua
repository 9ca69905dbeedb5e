-- Removes a consumer from a group, unless entries are pending for it: they would vanish with it.
--
-- KEYS: stream  stream  trimmed by the janitor, never here
-- ARGV: group, consumer
-- Returns 1 if removed

local group, consumer = unpack(ARGV)
if #redis.call('XPENDING', KEYS[1], group, '-', '+', 1, consumer) > 0 then
  return 0
end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], group, consumer)
return 1

-- Passes an event on to the workers unless it was forgotten, in one step: between a look and the passing on a forgetting
-- could begin and end, and would leave the words behind in the stream.
--
-- KEYS: stored     stream  events whose points are in the store; trimmed by the janitor
--       forgotten  zset    what the tenant had forgotten lately, with the moment up to which; expires by itself
-- ARGV: when the event was accepted in ms, the number of names, the names it may be forgotten under, then field, value ...
-- Returns 1 if it was passed on

local accepted, count = tonumber(ARGV[1]), tonumber(ARGV[2])
for at = 3, count + 2 do
  local moment = redis.call('ZSCORE', KEYS[2], ARGV[at])
  if moment and accepted <= tonumber(moment) then
    return 0
  end
end
redis.call('XADD', KEYS[1], '*', unpack(ARGV, count + 3))
return 1

-- Moves a pending entry to the dead letters and says so on its receipt. Repeating it after a lost reply buries nothing
-- twice, and a late worker cannot bury what another one has finished.
--
-- KEYS: stream   stream  where the entry is pending; trimmed by the janitor
--       dead     stream  dead letters of the partition; purged by the operator only
--       receipt  hash    of the event, if it could be read; written by accept.lua, expires by itself
-- ARGV: group, entry id, reason, then field, value, field, value ... of the dead letter

local stream, dead, receipt = unpack(KEYS)
local group, id, reason = unpack(ARGV, 1, 3)

if #redis.call('XPENDING', stream, group, id, id, 1) == 0 then
  return
end
-- First the copy: were memory short, this is the command that fails, and the entry stays pending.
redis.call('XADD', dead, '*', unpack(ARGV, 4))
redis.call('XACK', stream, group, id)
if receipt and redis.call('EXISTS', receipt) == 1 then
  redis.call('HSET', receipt, 'error', reason)
end

-- Adds stage marks to receipts that still exist; an expired receipt is not brought back without its TTL.
--
-- KEYS: receipts  hash  written by accept.lua, expire by themselves
-- ARGV: per receipt the number of values that follow, then field, value, field, value ...

local at = 1
for _, receipt in ipairs(KEYS) do
  local length = tonumber(ARGV[at])
  if redis.call('EXISTS', receipt) == 1 then
    redis.call('HSET', receipt, unpack(ARGV, at + 1, at + length))
  end
  at = at + length + 1
end

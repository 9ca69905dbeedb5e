-- Keeps the receipt of an answer, and removes the oldest of its tenant beyond a number or a size.
--
-- KEYS: trace  string  the packed receipt; expires
--       index  list    id and size of each receipt of the tenant, oldest first; expires with the newest
--       bytes  string  sum of the sizes in the index; expires with it
-- ARGV: receipt, TTL in s, id, most receipts, most bytes, how the names of the tenant's receipts begin
--
-- What has expired or was forgotten stays in the index until it is the oldest: it counts too much, never too little.

local size = #ARGV[1]
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
local count = redis.call('RPUSH', KEYS[2], ARGV[3] .. ' ' .. size)
local bytes = size
if count == 1 then
  redis.call('SET', KEYS[3], size)
else
  bytes = redis.call('INCRBY', KEYS[3], size)
end
while count > 1 and (count > tonumber(ARGV[4]) or bytes > tonumber(ARGV[5])) do
  local id, weight = string.match(redis.call('LPOP', KEYS[2]), '^(%S+) (%d+)$')
  redis.call('UNLINK', ARGV[6] .. id)
  bytes = redis.call('DECRBY', KEYS[3], weight)
  count = count - 1
end
redis.call('EXPIRE', KEYS[2], ARGV[2])
redis.call('EXPIRE', KEYS[3], ARGV[2])

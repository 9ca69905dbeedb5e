-- Counts one more use of each memory that was injected into a prompt.
--
-- KEYS[1]  hash, access counts of one user by record id, and their maximum under "highest"; expires by itself
-- ARGV[1]  record ids, separated by commas
-- ARGV[2]  seconds the hash is kept from now on
--
-- The maximum belongs to the same step: beside it, two assemblies at once could lose a rise.

local key = KEYS[1]
local highest = tonumber(redis.call("HGET", key, "highest") or "0")
for id in string.gmatch(ARGV[1], "[^,]+") do
  highest = math.max(highest, redis.call("HINCRBY", key, id, 1))
end
redis.call("HSET", key, "highest", string.format("%.0f", highest))
redis.call("EXPIRE", key, ARGV[2])

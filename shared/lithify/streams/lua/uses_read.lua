-- How often memories were recalled, for all candidates of a search at once.
--
-- KEYS[1]  hash, access counts of one user by record id; written by uses_count.lua, expires by itself
-- ARGV[1]  record ids, separated by commas
--
-- Returns the running maximum, then the count of each id, separated by commas: one reply instead of hundreds.

local key = KEYS[1]
local counts = { redis.call("HGET", key, "highest") or "0" }
for id in string.gmatch(ARGV[1], "[^,]+") do
  counts[#counts + 1] = redis.call("HGET", key, id) or "0"
end
return table.concat(counts, ",")

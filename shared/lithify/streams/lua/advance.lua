-- Moves a session to its next compaction generation, only while nobody else has: compare and swap.
--
-- KEYS: state  hash  generation, last_compacted_at, last_summary_id (tokens and left_raw are not touched); expires by
--                    itself, forgetting deletes it
-- ARGV: generation expected, time of compaction in ms, id of the summary, TTL in s
-- Returns whether the session now is where the caller wants it, and its generation. Repeating after a lost reply is
-- told by the summary and answered like the first time.

local state = KEYS[1]
local expected, compacted_at, summary, ttl = unpack(ARGV)
local found = redis.call('HMGET', state, 'generation', 'last_summary_id')
local generation = tonumber(found[1] or 0)

if generation == expected + 1 and found[2] == summary then
  return {1, generation}
end
if generation ~= tonumber(expected) then
  return {0, generation}
end
redis.call('HSET', state, 'generation', generation + 1, 'last_compacted_at', compacted_at, 'last_summary_id', summary)
redis.call('EXPIRE', state, ttl)
return {1, generation + 1}

-- Finds entries that are pending for a group and lie below the first entry there is: they were trimmed away.
--
-- KEYS: stream  stream  trimmed by the janitor, never here
-- ARGV: group, most ids to return
-- Returns ids, oldest first

local oldest = redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', 1)[1]
local below = oldest and '(' .. oldest[1] or '+'
local ids = {}
for at, pending in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], '-', below, ARGV[2])) do
  ids[at] = pending[1]
end
return ids

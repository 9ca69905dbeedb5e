-- Counts the entries after an id, one page per call, without sending their payloads over the wire.
--
-- KEYS: stream  stream  trimmed by the janitor, never here
-- ARGV: id to start behind, page size
-- Returns {number of entries, id of the first, id of the last}; both ids are the start if there are none

local entries = redis.call('XRANGE', KEYS[1], '(' .. ARGV[1], '+', 'COUNT', ARGV[2])
local first, last = entries[1], entries[#entries]
return {#entries, first and first[1] or ARGV[1], last and last[1] or ARGV[1]}

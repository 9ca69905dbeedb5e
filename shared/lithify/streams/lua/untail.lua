-- Takes forgotten turns out of a session's tail; with the last turn the count of positions goes, too.
--
-- KEYS: tail     list    written by accept.lua, expires by itself
--       session  string  written by accept.lua, expires by itself
-- ARGV: entries, byte for byte
--
-- One step: a turn accepted in between keeps both its place in the tail and the position the next one counts from.

local tail, session = unpack(KEYS)
for _, entry in ipairs(ARGV) do
  redis.call('LREM', tail, 0, entry)
end
if redis.call('EXISTS', tail) == 0 then
  redis.call('DEL', session)
end

-- Makes sessions count on behind positions that were given out elsewhere: imported turns keep theirs. A position out of
-- reach of any host moves nothing, or the session would have none left to count.
--
-- KEYS: sessions  string  highest position given out; written by accept.lua too, expires by itself
-- ARGV: TTL in s, then one position per key

-- One past the highest position a host may give (events/turn.py), and how far one may lie ahead, as in accept.lua.
local END, FARTHEST = 2 ^ 52, 1e14

for at, session in ipairs(KEYS) do
  local given = tonumber(ARGV[at + 1])
  local last = tonumber(redis.call('GET', session) or nil)
  if given < END and not (last and given > last + FARTHEST) then
    -- Lua would print large numbers with an exponent.
    redis.call('SET', session, string.format('%.0f', math.max(last or 0, given)), 'EX', ARGV[1])
  end
end

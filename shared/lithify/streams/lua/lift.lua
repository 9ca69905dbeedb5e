-- Makes sessions count on behind positions that were given out elsewhere: imported turns keep theirs.
--
-- KEYS: sessions  string  highest position given out; written by accept.lua too, expires by itself
-- ARGV: TTL in s, then one position per key

for at, session in ipairs(KEYS) do
  local given = tonumber(ARGV[at + 1])
  local last = tonumber(redis.call('GET', session) or 0)
  -- Lua would print large numbers with an exponent.
  redis.call('SET', session, string.format('%.0f', math.max(last, given)), 'EX', ARGV[1])
end

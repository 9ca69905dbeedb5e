-- Counts one request of an API key against its rate limit (generic cell rate algorithm, a second's worth at once).
--
-- KEYS:
--   rate  string  when the key will have paid for what it used, in microseconds; expires at that time
-- ARGV: requests per second
-- Returns 0 if the request may go on, else the microseconds after which one may.

local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local paid = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0)) + 1000000 / ARGV[1]
local wait = paid - now - 1000000

if wait > 0 then
  return math.ceil(wait)
end
-- Lua would print large numbers with an exponent.
redis.call('SET', KEYS[1], string.format('%.0f', paid), 'PX', math.ceil((paid - now) / 1000))
return 0

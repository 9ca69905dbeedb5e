-- Accepts turns, each at most once: dedup, position, stream, tail and receipt in one step, so that a lost reply may
-- be answered by sending the same again.
--
-- KEYS, four per item:
--   receipt  hash    dedup record and receipt of the event; expires by itself
--   session  string  highest position given out in the session; expires by itself, forgetting deletes it
--   turns    stream  accepted events of the partition; the janitor trims it
--   tail     list    newest raw turns of the session; bounded here, expires by itself, forgetting deletes it
-- ARGV: now in ms, receipt TTL, session TTL, tail TTL (s), tail length; then per item digest, envelope, position or '',
--   and whether it enters the tail, '1' or ''
-- Returns 'status stream-id position ...' in one string, since parsing nested replies costs clients more than all of
-- this; for a duplicate or a conflict the id and position are those of the first acceptance.

local now, receipt_ttl, session_ttl, tail_ttl, tail_length = unpack(ARGV, 1, 5)
local results, highest, tails = {}, {}, {}

-- Lua would print large numbers with an exponent.
local function digits(number)
  return string.format('%.0f', number)
end

local function result(status, stream_id, seq)
  results[#results + 1] = status .. ' ' .. stream_id .. ' ' .. seq
end

for item = 0, #KEYS / 4 - 1 do
  local receipt, session, turns, tail = unpack(KEYS, item * 4 + 1, item * 4 + 4)
  local digest, envelope, given, shown = unpack(ARGV, item * 4 + 6, item * 4 + 9)
  local seen = redis.call('HMGET', receipt, 'digest', 'stream_id', 'seq')

  if seen[1] then
    result(seen[1] == digest and 'duplicate' or 'conflict', seen[2], seen[3])
  else
    local last = highest[session] or tonumber(redis.call('GET', session) or 0)
    local position = tonumber(given) or last + 1
    local seq = digits(position)
    highest[session] = math.max(last, position)

    local stream_id = redis.call('XADD', turns, '*', 'event', envelope, 'seq', seq)
    if shown == '1' then
      redis.call('RPUSH', tail, seq .. ' ' .. envelope)
      tails[tail] = true
    end
    redis.call('HSET', receipt, 'digest', digest, 'stream_id', stream_id, 'seq', seq, 'accepted_at', now)
    redis.call('EXPIRE', receipt, receipt_ttl)
    result('accepted', stream_id, seq)
  end
end

-- Once per session, not per turn: a batch mostly holds turns of few sessions.
for session, position in pairs(highest) do
  redis.call('SET', session, digits(position), 'EX', session_ttl)
end
for tail in pairs(tails) do
  redis.call('LTRIM', tail, -tail_length, -1)
  redis.call('EXPIRE', tail, tail_ttl)
end

return table.concat(results, ' ')

-- Accepts turns, each at most once: dedup, position, stream, tail and receipt in one step, so that a lost reply may
-- be answered by sending the same again.
--
-- KEYS, six per item:
--   receipt  hash    dedup record and receipt of the event; expires by itself
--   session  string  highest position given out in the session; expires by itself, forgetting deletes it
--   turns    stream  accepted events of the partition; the janitor trims it
--   bulk     stream  the same, of tenants that have many waiting already; the janitor trims it
--   lane     hash    of the tenant: 'count' of its entries in turns, their latest ids by count modulo share, and 'bulk',
--                   its latest id there; expires by itself
--   tail     list    newest raw turns of the session; bounded here by number and bytes, expires by itself, forgetting
--                   deletes it
-- ARGV: now in ms, receipt TTL, session TTL, tail TTL (s), tail length, tail bytes, turns a tenant may have waiting
--   before its further ones go to bulk (0: any number), the group that must have read them, whether bulk is open, '1' or
--   ''; then per item digest, envelope, position or '', and whether it enters the tail, '1' or ''
-- Returns 'status stream-id position ...' in one string, since parsing nested replies costs clients more than all of
-- this; for a duplicate or a conflict the id and position are those of the first acceptance, and for 'far', which is
-- refused, the position is the highest of the session. 'full' is refused because bulk is closed.

local now, receipt_ttl, session_ttl, tail_ttl, tail_length, tail_bytes, share, reader, bulk_open = unpack(ARGV, 1, 9)
local results, highest, tails = {}, {}, {}
local positions = {}
share = tonumber(share)

-- Only what waits is compared with it, and nothing waits for so long.
local LANE_TTL = 604800

-- How far a given position may lie beyond the highest of its session, as in lift.lua. Hosts number by clocks, too: with
-- microseconds a session may rest for three years. A session without positions may begin with any.
local FARTHEST = 1e14

-- Entries of at most this size stay below the bytes together, so that only behind a larger one there is anything to sum.
local fair_share = tail_bytes / tail_length

-- Lua would print large numbers with an exponent.
local function digits(number)
  return string.format('%.0f', number)
end

local function result(status, stream_id, seq)
  results[#results + 1] = status .. ' ' .. stream_id .. ' ' .. seq
end

-- The id up to which a stream was read by the group that the lanes are for.
local function read_up_to(stream)
  if not positions[stream] then
    positions[stream] = '0-0'
    for _, group in ipairs(redis.pcall('XINFO', 'GROUPS', stream)) do
      local state = {}
      for at = 1, #group, 2 do
        state[group[at]] = group[at + 1]
      end
      if state['name'] == reader then
        positions[stream] = state['last-delivered-id']
      end
    end
  end
  return positions[stream]
end

local function is_unread(id, stream)
  local ms, number = string.match(id, '(%d+)-(%d+)')
  local read_ms, read_number = string.match(read_up_to(stream), '(%d+)-(%d+)')
  ms, read_ms = tonumber(ms), tonumber(read_ms)
  return ms > read_ms or (ms == read_ms and tonumber(number) > tonumber(read_number))
end

-- Where the next id of a tenant in turns is noted: in place of the one that was given `share` entries before it.
local function find_slot(lane)
  return tonumber(redis.call('HGET', lane, 'count') or 0) % share
end

-- Says whether a tenant's next turn goes to bulk: while one of its own waits there, so that they keep their order, or
-- while as many as its share wait in turns. Then the turns of others are read first.
local function is_piled(turns, bulk, lane)
  if share == 0 then
    return false
  end
  local seen = redis.call('HMGET', lane, 'bulk', find_slot(lane))
  return (seen[1] and is_unread(seen[1], bulk)) or (seen[2] and is_unread(seen[2], turns))
end

local function note(lane, id, piled)
  if piled then
    redis.call('HSET', lane, 'bulk', id)
  else
    redis.call('HSET', lane, find_slot(lane), id)
    redis.call('HINCRBY', lane, 'count', 1)
  end
  redis.call('EXPIRE', lane, LANE_TTL)
end

-- Keeps the newest entries that have room together, the newest of all in any case.
local function trim_bytes(tail)
  local entries = redis.call('LRANGE', tail, 0, -1)
  local room = tail_bytes
  for at = #entries, 1, -1 do
    room = room - #entries[at]
    if room < 0 and at < #entries then
      return redis.call('LTRIM', tail, at, -1)
    end
  end
end

-- Returns the highest position of a session, nil if it has none.
local function find_highest(session)
  return highest[session] or tonumber(redis.call('GET', session) or nil)
end

for item = 0, #KEYS / 6 - 1 do
  local receipt, session, turns, bulk, lane, tail = unpack(KEYS, item * 6 + 1, item * 6 + 6)
  local digest, envelope, given, shown = unpack(ARGV, item * 4 + 10, item * 4 + 13)
  local seen = redis.call('HMGET', receipt, 'digest', 'stream_id', 'seq')
  local last = not seen[1] and find_highest(session)
  local position = tonumber(given) or (last or 0) + 1
  local piled = not seen[1] and is_piled(turns, bulk, lane)

  if seen[1] then
    result(seen[1] == digest and 'duplicate' or 'conflict', seen[2], seen[3])
  elseif last and position > last + FARTHEST then
    result('far', '0-0', digits(last))
  elseif piled and bulk_open ~= '1' then
    result('full', '0-0', '0')
  else
    local seq = digits(position)
    highest[session] = math.max(last or 0, position)

    local stream_id = redis.call('XADD', piled and bulk or turns, '*', 'event', envelope, 'seq', seq)
    if share > 0 then
      note(lane, stream_id, piled)
    end
    if shown == '1' then
      redis.call('RPUSH', tail, seq .. ' ' .. envelope)
      tails[tail] = tails[tail] or #envelope > fair_share
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
for tail, has_large in pairs(tails) do
  redis.call('LTRIM', tail, -tail_length, -1)
  if has_large then
    trim_bytes(tail)
  end
  redis.call('EXPIRE', tail, tail_ttl)
end

return table.concat(results, ' ')

-- Tells for groups and streams where the group stands and what it would read next, without sending payloads.
--
-- KEYS: streams  stream  trimmed by the janitor, never here; one per pair, may not exist
-- ARGV: groups, one per key; a group that does not exist has read nothing
-- Returns per pair {last delivered id, next id or '', length of the stream}

local function position(stream, wanted)
  local groups = redis.pcall('XINFO', 'GROUPS', stream)
  for _, group in ipairs(groups) do
    local state = {}
    for at = 1, #group, 2 do
      state[group[at]] = group[at + 1]
    end
    if state['name'] == wanted then
      return state['last-delivered-id']
    end
  end
  return '0-0'
end

local results = {}
for pair, stream in ipairs(KEYS) do
  local read = position(stream, ARGV[pair])
  local following = redis.call('XRANGE', stream, '(' .. read, '+', 'COUNT', 1)[1]
  results[pair] = {read, following and following[1] or '', redis.call('XLEN', stream)}
end
return results

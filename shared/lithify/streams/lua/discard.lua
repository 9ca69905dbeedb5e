-- Deletes entries of forgotten events that no group holds. A pending one stays until its worker has finished: deleted
-- under its hands it would look lost, and what the worker writes would come after everything else was removed.
--
-- KEYS: stream  stream  trimmed by the janitor, shortened here
-- ARGV: entry ids
-- Returns the ids that are pending in some group

local stream = KEYS[1]
local names = {}
if redis.call('EXISTS', stream) == 1 then
  for _, group in ipairs(redis.call('XINFO', 'GROUPS', stream)) do
    names[#names + 1] = group[2]
  end
end

local function is_pending(id)
  for _, name in ipairs(names) do
    if #redis.call('XPENDING', stream, name, id, id, 1) > 0 then
      return true
    end
  end
end

local held = {}
for _, id in ipairs(ARGV) do
  if is_pending(id) then
    held[#held + 1] = id
  else
    redis.call('XDEL', stream, id)
  end
end
return held

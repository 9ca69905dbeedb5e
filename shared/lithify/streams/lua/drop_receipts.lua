-- Deletes the receipts of forgotten events, but not of one that was accepted again since: looked at and deleted in one
-- step, for the host may send it in between.
--
-- KEYS: receipts  hash  written by accept.lua, expire by themselves
-- ARGV: the moment up to which events are forgotten, in ms of the ids of their entries
-- Returns how many were deleted

local before = tonumber(ARGV[1])
local deleted = 0
for _, receipt in ipairs(KEYS) do
  local accepted = tonumber(string.match(redis.call('HGET', receipt, 'stream_id') or '0', '^%d+'))
  if accepted <= before then
    deleted = deleted + redis.call('DEL', receipt)
  end
end
return deleted

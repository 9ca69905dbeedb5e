-- Tells which events can be found, for all that are waited for in one call.
--
-- KEYS: receipts  hash  written by accept.lua, expire by themselves
-- Returns one character per receipt: '1' can be found; '0' never will be, or its receipt is gone; '?' not known yet

local outcomes = {}
for at, receipt in ipairs(KEYS) do
  local digest, embedded, ignored, failed = unpack(redis.call('HMGET', receipt, 'digest', 'embedded_at', 'ignored', 'error'))
  if embedded then
    outcomes[at] = '1'
  elseif ignored or failed or not digest then
    outcomes[at] = '0'
  else
    outcomes[at] = '?'
  end
end
return table.concat(outcomes)

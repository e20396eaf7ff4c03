--[[
Gives  countsOf(filter, kept)  how many fingerprints a cuckoo filter holds, how many were removed, and, with `kept`, how many have to stay
]]
--- @include "named-values"
local function countsOf(filter, kept)
  local values = namedValues(redis.call('CF.INFO', filter))
  local counts = string.format('%d %d', values['Number of items inserted'], values['Number of items deleted'])
  return kept and counts .. ' ' .. string.format('%d', redis.call('SCARD', kept)) or counts
end

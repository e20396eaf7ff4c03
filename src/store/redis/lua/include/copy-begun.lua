--[[
Gives  isBegunHere(meta)  whether the server that answers has begun the list of readers. One that came with a snapshot lacks readers that joined later, so that nobody
                          knows by it what all have acknowledged
]]
--- @include "run-id"
local function isBegunHere(meta)
--safety:told-by-server
  if serverRunId() ~= redis.pcall('HGET', meta, 'leases.run') then return false end
--end
  return true
end

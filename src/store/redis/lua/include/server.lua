--[[
Gives  isOtherServer(runId)  whether another server answers than the one with this run id, or it restarted; '' stands for a server that may not be
                             asked
]]
local function isOtherServer(runId)
--safety:server
  if runId ~= '' and not string.find(redis.call('INFO', 'server'), 'run_id:' .. runId, 1, true) then return true end
--end
  return false
end

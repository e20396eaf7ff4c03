--[[
Gives  serverRunId()  run id of the server that answers; '' when it may not be asked
]]
local function serverRunId()
  local info = redis.pcall('INFO', 'server')
  return type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
end

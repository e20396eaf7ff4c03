--[[
Gives  now()  time of the server, in whole milliseconds since 1970
]]
local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

--[[
Gives  millisecondsOf(time)  a reply of TIME in whole milliseconds since 1970
       now()                 time of the server, in the same
]]
local function millisecondsOf(time)
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function now()
  return millisecondsOf(redis.call('TIME'))
end

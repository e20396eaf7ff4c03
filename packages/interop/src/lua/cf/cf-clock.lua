--[[
Reports the time of the server on which a filter is.

KEYS[1]  meta

Reply: milliseconds since 1970
]]
local time = redis.call('TIME')
return string.format('%.3f', time[1] * 1000 + time[2] / 1000)

--[[
Gives  beginsWith(key, head)  whether a string begins with these bytes
]]
local function beginsWith(key, head)
  return head == '' or redis.call('GETRANGE', key, 0, #head - 1) == head
end

--[[
The stored tag of a filter that is read with leases begins with L, so that it differs from what a process knows that has not heard of them. It is L alone while
nothing is live.

Gives  isLeased(tag)  whether a filter is read with leases whose stored tag is this
       plainTag(tag)  the tag itself, '' for none
]]
local function isLeased(tag)
  return string.byte(tag or '') == 76
end

local function plainTag(tag)
  return isLeased(tag) and string.sub(tag, 2) or tag or ''
end

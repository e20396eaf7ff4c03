--[[
Needs  copies.meta, readers, list
Gives  tellAdders(copies, acks, before)  wakes the adders that wait, when the least number of the readers has risen since it was `before`, or there is no reader
                                         any more; not on a server that has not begun the list. Whether it has woken them
]]
--- @include "copy-least"
--- @include "copy-number"
--- @include "copy-begun"
local function tellAdders(copies, acks, before)
  local least = leastOf(copies)
  if not before or (least and least <= before) then return false end
  if not isBegunHere(copies.meta) then return false end
  redis.pcall('XADD', acks, 'MAXLEN', 1, '*', 'list', copies.list, 'least', acknowledgedBy(copies, least))
  return true
end

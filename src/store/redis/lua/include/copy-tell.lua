--[[
Needs  copies.meta, readers, list
Gives  tellAdders(copies, acks, before)  wakes the adders that wait, when the least number of the readers has risen since it was `before`, or there is no reader
                                         any more
]]
--- @include "copy-least"
--- @include "copy-number"
local function tellAdders(copies, acks, before)
  local least = leastOf(copies)
  if not before or (least and least <= before) then return end
  redis.pcall('XADD', acks, 'MAXLEN', 1, '*', 'list', copies.list, 'least', acknowledgedBy(copies, least))
end

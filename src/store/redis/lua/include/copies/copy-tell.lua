--[[
Needs  copies.meta, readers, list
Gives  tellAdders(copies, acks, before)  tells the adders that wait, on the channel of this name, up to which entry all readers have acknowledged, when their least number
                                         has risen since it was `before`, or there is no reader any more
]]
--- @include "copy-least"
--- @include "copy-number"
--- @include "copy-message"
local function tellAdders(copies, acks, before)
  local least = leastOf(copies)
  if not before or (least and least <= before) then return end
  publishAcknowledged(acks, copies.list, acknowledgedBy(copies, least))
end

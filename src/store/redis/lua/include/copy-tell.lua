--[[
Needs  copies.meta, readers, list
Gives  tellAdders(copies, acks, before)  tells the adders that wait, on the channel of this name, up to which entry all readers have acknowledged, when their least number
                                         has risen since it was `before`, or there is no reader any more
]]
--- @include "copy-least"
--- @include "copy-number"
local function tellAdders(copies, acks, before)
  local least = leastOf(copies)
  if not before or (least and least <= before) then return end
  -- Replicas do not pass it on: who hears it knows by that which server says so.
  redis.set_repl(redis.REPL_NONE)
  redis.pcall('PUBLISH', acks, copies.list .. ' ' .. acknowledgedBy(copies, least))
  redis.set_repl(redis.REPL_ALL)
end

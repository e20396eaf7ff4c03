--[[
Gives  beginRecent(meta, filter, token)  notes what was added last to a filter that goes live: its canaries. The number says whether peers add to
                                         it from here on.
]]
--- @include "bf-count"
local function beginRecent(meta, filter, token)
  redis.call('HDEL', meta, 'recent')
  local items = itemsIn(filter)
  if items then redis.call('HSET', meta, 'recent', token .. ' ' .. string.format('%d', items) .. '\n') end
end

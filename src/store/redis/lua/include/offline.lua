--[[
Takes a filter out of service.

Needs  KEYS[1]  meta
       ARGV[1]  what must name the live generation now, '' for none
       ARGV[2]  state to set
       ARGV[3]  format to write
       ARGV[4]  '1': meta makes no sense and is recreated
       ARGV[5]  builds that the caller knows of: a process that knew nothing of the filter made fewer
Gives  isOtherNow(field, nameOf)   whether `field` of meta names another generation, or none, since the filter is offline already; `nameOf`, where there is
                                   one, makes a name of what is stored
       takeOffline(state, forget)  has `forget` remove what names the live generation, and keeps owner and builds
]]
--- @include "builds"
local metaType = redis.call('TYPE', KEYS[1]).ok

local function isOtherNow(field, nameOf)
  local name = metaType == 'hash' and redis.call('HGET', KEYS[1], field) or ''
  if nameOf then name = nameOf(name) end
  return name ~= ARGV[1] or (metaType == 'hash' and name == '' and ARGV[4] ~= '1')
end

local function takeOffline(state, forget)
  local owner = metaType == 'hash' and redis.call('HGET', KEYS[1], 'owner')
  if metaType ~= 'hash' or ARGV[4] == '1' then redis.call('DEL', KEYS[1]) end
  forget(KEYS[1])
  if owner then redis.call('HSET', KEYS[1], 'owner', owner) end
  redis.call('HSET', KEYS[1], 'format', ARGV[3], 'state', state)
  if buildsOf(KEYS[1]) < tonumber(ARGV[5]) then redis.call('HSET', KEYS[1], 'builds', ARGV[5]) end
end

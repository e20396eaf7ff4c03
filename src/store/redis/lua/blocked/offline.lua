--[[
Takes a filter out of service: retires every live segment, so that no reader of any process finds a valid block.

KEYS[1]             meta
KEYS[2]             table of the negative cache, which ends with the generation
KEYS[3 .. n+2]      live segments
KEYS[n+3 .. 2n+2]   where they are moved
ARGV[1]             tag that meta must hold now, '' for none
ARGV[2]             state to set: lost, suspect, or unbuilt, which becomes lost when there is a live segment
ARGV[3]             format to write
ARGV[4]             '1': meta makes no sense and is recreated
ARGV[5]             builds that the caller knows of: a process that knew nothing of the filter made fewer
ARGV[6]             life of the moved segments, in milliseconds

Reply: 'STALE' when meta holds another tag, or has none since the filter is offline already, else { state that was set, indexes from 0 of the segments that were moved }
]]
--- @include "offline"
--- @include "retire"
if isOtherNow('tag') then return 'STALE' end

local segments = (#KEYS - 2) / 2
local moved = {}
--safety:offline
for i = 1, segments do
  if retire(KEYS[2 + i], KEYS[2 + segments + i], ARGV[6] + i) then moved[#moved + 1] = i - 1 end
end
--end
local state = ARGV[2]
if state == 'unbuilt' and #moved > 0 then state = 'lost' end
takeOffline(state, function(meta)
  redis.call('HDEL', meta, 'layout', 'tag', 'key', 'blocks', 'hashCount', 'maxIdBytes', 'sum', 'runId', 'count', 'denials')
  redis.call('UNLINK', KEYS[2])
end)
return { state, unpack(moved) }

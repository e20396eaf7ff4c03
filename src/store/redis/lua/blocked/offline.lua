--[[
Takes a filter out of service: retires every live segment, so that no reader of any process finds a valid block.

KEYS[1]             meta
KEYS[2]             table of the negative cache, which ends with the generation
KEYS[3 .. n+2]      live segments
KEYS[n+3 .. 2n+2]   where they are moved
ARGV[1]             tag that meta must hold now, '' for none; whether the filter is read with leases does not matter
ARGV[2]             state to set: lost, suspect, or unbuilt, which becomes lost when there is a live segment
ARGV[3]             format to write
ARGV[4]             '1': meta makes no sense and is recreated
ARGV[5]             builds that the caller knows of: a process that knew nothing of the filter made fewer
ARGV[6]             life of the moved segments, in milliseconds
ARGV[7]             longest lease of a reader that meta may not know, in milliseconds; 0 when nobody reads with leases
ARGV[8]             format of a filter that is read with leases

Reply: 'STALE' when meta holds another tag, or has none since the filter is offline already, else { state that was set, indexes from 0 of the segments that were moved }
]]
--- @include "offline"
--- @include "retire"
--- @include "copy-tag"
--- @include "now"
if isOtherNow('tag', plainTag) then return 'STALE' end
local leases = {}
-- A staging of layout `exact` stays, and with it its format.
local isExact = metaType == 'hash' and ARGV[4] ~= '1' and redis.call('HGET', KEYS[1], 'format') == '5'
if metaType == 'hash' then
  local fields = redis.call('HGETALL', KEYS[1])
  for i = 1, #fields, 2 do
    local isOfLeases = string.find(fields[i], '^leases') or (fields[i] == 'tag' and isLeased(fields[i + 1]))
    if isOfLeases then leases[#leases + 1], leases[#leases + 2] = fields[i], fields[i + 1] end
  end
end
-- What a server has lost may be read from copies for as long as a lease.
if #leases == 0 and ARGV[7] ~= '0' then leases = { 'leases.ms', ARGV[7], 'leases.until', string.format('%d', now() + ARGV[7]) } end

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
  redis.call('HDEL', meta, 'layout', 'tag', 'key', 'blocks', 'hashCount', 'maxIdBytes', 'range', 'sum', 'runId', 'count', 'denials')
  redis.call('UNLINK', KEYS[2])
end)
if #leases > 0 then
  redis.call('HSET', KEYS[1], unpack(leases))
  redis.call('HSET', KEYS[1], 'format', ARGV[8], 'tag', 'L')
end
if isExact then redis.call('HSET', KEYS[1], 'format', '5') end
return { state, unpack(moved) }

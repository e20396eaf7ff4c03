--[[
Takes a filter as others have left it for the live generation: its canaries are added, and the metadata say so. One that is the
caller's own is made.

KEYS[1]   meta
KEYS[2]   the filter
ARGV[1]   states in which the metadata may be, with a space before and after each; missing ones are unbuilt
ARGV[2]   format that the metadata must have, if there are any
ARGV[3]   number of canaries
ARGV[4]   number of arguments of BF.RESERVE
ARGV[5]   token of the generation
ARGV[6..] the canaries, what BF.RESERVE takes after the key to make a filter that is unbuilt, if it is to be made, and fields and
          values of the generation

Reply: 'STALE'    the metadata are in another state
       'MISSING'  there is no filter
       the reply of BF.INSERT in which a canary was refused
       'OK'
]]
--- @include "adoptable"
--- @include "bf-items"
--- @include "bf-refused"
--- @include "bf-begin-recent"
--- @include "run-id"
local state = stateToAdopt(KEYS[1], ARGV[1], ARGV[2])
if not state then return 'STALE' end

local canaries, reserve = tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call('EXISTS', KEYS[2]) == 0 then
  if reserve == 0 or state ~= 'unbuilt' then return 'MISSING' end
  redis.call('BF.RESERVE', KEYS[2], unpack(ARGV, 6 + canaries, 5 + canaries + reserve))
end
local reply = insertItems(KEYS[2], unpack(ARGV, 6, 5 + canaries))
if reply.err or hasRefused(reply) then return reply end
beginRecent(KEYS[1], KEYS[2], ARGV[5])
redis.call('HSET', KEYS[1], 'format', ARGV[2], 'state', 'ready', 'runId', serverRunId(), unpack(ARGV, 6 + canaries + reserve))
return 'OK'

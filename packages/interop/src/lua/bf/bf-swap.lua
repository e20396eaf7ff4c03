--[[
Puts the staged filter in the place of the live one: what is left of the journal is added, then key and metadata are changed at
once.

KEYS[1]    meta
KEYS[2]    lease
KEYS[3]    journal
KEYS[4]    the staged filter
KEYS[5]    the live filter
KEYS[6]    where the live one is moved when it is retired
ARGV[1]    token of the lease
ARGV[2]    token of the staging
ARGV[3]    run id of the server that the filter was staged on, '' when it may not be asked
ARGV[4]    token of the live generation, which is retired, '' for none
ARGV[5]    ids of the journal that the staged filter has already
ARGV[6]    life of the retired filter, in milliseconds
ARGV[7]    ids that the build read
ARGV[8]    number of canaries of the new generation
ARGV[9..]  the canaries, then fields and values of the new generation

Reply: 'LEASE'   the lease is not the caller's
       'NOMETA'  meta is missing
       'STALE'   another staging was published, or the live generation is another one
       'SERVER'  the server is another one or restarted: adds that it had acknowledged may be missing in staging
       'LENGTH'  the staged filter or its journal is not there whole
       'TYPE'    the live key is something else, which is left alone
       the reply of BF.INSERT in which an id was refused
       'OK'
]]
--- @include "swap-head"
--- @include "ask"
--- @include "all-found"
--- @include "bf-items"
--- @include "bf-refused"
--- @include "bf-other"
--- @include "retire"
--- @include "forget-staging"
--- @include "bf-begin-recent"
--- @include "go-live"
local meta, journal, staging, live = KEYS[1], KEYS[3], KEYS[4], KEYS[5]
local refusal, known = beginSwap('token', 'journaled:' .. ARGV[2])
if refusal then return refusal end

local journaled = tonumber(known[3] or '0')
local canaries = tonumber(ARGV[8])
if redis.call('LINDEX', journal, 0) ~= ARGV[2] or redis.call('LLEN', journal) ~= journaled + 1 then return 'LENGTH' end
local asked = { unpack(ARGV, 9, 8 + canaries) }
--safety:replayed
-- The last ids of the journal that the staged filter has: an older copy of it lacks them.
local replayed = tonumber(ARGV[5])
for _, id in ipairs(replayed > 0 and redis.call('LRANGE', journal, math.max(1, replayed - 7), replayed) or {}) do
  asked[#asked + 1] = id
end
--end
if not areFound(ask('BF.MEXISTS', staging, unpack(asked)), #asked) then return 'LENGTH' end
if isOtherThanBf(live) then return 'TYPE' end

for from = tonumber(ARGV[5]) + 1, journaled, 1000 do
  local reply = insertItems(staging, unpack(redis.call('LRANGE', journal, from, from + 999)))
  if reply.err or hasRefused(reply) then return reply end
end

retire(live, KEYS[6], ARGV[6])
redis.call('PERSIST', staging)
redis.call('RENAME', staging, live)
redis.call('UNLINK', journal)
forgetStaging(meta)
beginRecent(meta, live, ARGV[2])
goLive(meta, 'ids', ARGV[7], unpack(ARGV, 9 + canaries))
return 'OK'

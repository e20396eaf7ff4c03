--[[
Puts the staged generation in the place of the live one: segments and metadata at once.

KEYS[1]    meta
KEYS[2]    lease
KEYS[3..]  n staging segments, n live segments that they become, m live segments of the generation that is retired, m names to move
           those to, readers and feed, and the table of the negative cache, which ends with that generation
ARGV[1]    token of the lease
ARGV[2]    token of the staging
ARGV[3]    run id of the server that the generation was staged on, '' when it may not be asked
ARGV[4]    tag of the live generation, which is retired, as meta holds it, as far as the caller knows; '' for none
ARGV[5]    n
ARGV[6]    m
ARGV[7]    length of every staging segment but the last, in bytes
ARGV[8]    length of the last one
ARGV[9]    life of the moved segments, in milliseconds
ARGV[10]   ids that the build read
ARGV[11]   for how long the staging has been published, in milliseconds
ARGV[12]   longest lease of a reader that meta may not know, in milliseconds; 0 when nobody reads with leases
ARGV[13]   name of a new list of readers, if one has to begin
ARGV[14..] fields and values of the new generation

Reply: 'LEASE'   the lease is not the caller's
       'NOMETA'  meta is missing
       'STALE'   another staging was published, or the live generation is another one
       'SERVER'  the server is another one or restarted: adds that it had acknowledged may be missing in staging
       'LENGTH'  a staging segment is not there whole
       { 'EARLY', milliseconds }  nothing is live, or meta knows of no lease, and copies of what was live may still be believed in for so long
       { 'OK' }  where the filter is read with leases, with what waitFor() gives, and number and list of the last entry
]]
--- @include "swap-head"
--- @include "whole-segments"
--- @include "retire"
--- @include "forget-staging"
--- @include "go-live"
--- @include "copy-tag"
--- @include "copy-wait"
--- @include "run-id"
local meta = KEYS[1]
local refusal, known = beginSwap('tag', 'pending.count', 'pending.announced')
if refusal then return refusal end
local staging, retired = tonumber(ARGV[5]), tonumber(ARGV[6])
if not areWhole(3, 2 + staging, ARGV[7], ARGV[8]) then return 'LENGTH' end
local copies
if isLeased(known[2]) then
  copies = copiesAt(meta, KEYS[#KEYS - 2], KEYS[#KEYS - 1], ARGV[13])
  settleServer(copies, serverRunId())
  settleList(copies)
end
--safety:new-waits
if plainTag(known[2]) == '' then
  local early = math.max(tonumber(ARGV[12]), copies and copies.ms or 0) - ARGV[11]
  if early > 0 then return { 'EARLY', math.ceil(early) } end
end
--end
--safety:unseen-swap
-- The metadata of what is live may be those of before the first lease: the readers of the next list are all
-- that adds wait for.
if not copies then
  local early = ARGV[12] - ARGV[11]
  if early > 0 then return { 'EARLY', math.ceil(early) } end
end
--end

--part:segments
for i = 1, retired do
  retire(KEYS[2 + 2 * staging + i], KEYS[2 + 2 * staging + retired + i], ARGV[9] + i)
end
for i = 1, staging do
  redis.call('PERSIST', KEYS[2 + i])
  redis.call('RENAME', KEYS[2 + i], KEYS[2 + staging + i])
end
--end
forgetStaging(meta)
--safety:denial-swap
redis.call('HDEL', meta, 'denials')
redis.call('UNLINK', KEYS[#KEYS])
--end
local added = tonumber(known[3]) or 0
if added < 0 or added > 1e15 then added = 0 end
goLive(meta, 'ids', ARGV[10], 'count', ARGV[10] + added, unpack(ARGV, 14))
if not copies then return { 'OK' } end
local kind, ms = 0, 0
local tag = redis.call('HGET', meta, 'tag')
redis.call('HSET', meta, 'tag', 'L' .. tag)
local isAnnounced = known[4] == ARGV[2]
--safety:announced-live
-- Adds that found nothing live are no entries, so copies of the staging lack their ids.
isAnnounced = isAnnounced and plainTag(known[2]) ~= ''
--end
--safety:swap-entry
writeEntry(copies, tag, isAnnounced and tag)
kind, ms = waitFor(copies, copies.last, true)
--end
return { 'OK', kind, ms, copies.last, copies.list }

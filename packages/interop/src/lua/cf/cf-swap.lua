--[[
Puts a staged cuckoo filter in the place of the live one: from now on the metadata name its keys.

KEYS[1]   meta
KEYS[2]   lease
KEYS[3]   the staged filter
KEYS[4]   the set of the fingerprints that have to stay in it
KEYS[5,6] the same of the generation that is retired, if there is one
ARGV[1]   token of the lease
ARGV[2]   token of the staging
ARGV[3]   run id of the server that the filter was staged on, '' when it may not be asked
ARGV[4]   token of the live generation, which is retired, '' for none
ARGV[5]   ids that the build read
ARGV[6]   number of canaries of the new generation
ARGV[7..] the canaries, then fields and values of the new generation

Reply: 'LEASE'   the lease is not the caller's
       'NOMETA'  meta is missing
       'STALE'   another staging was published, or the live generation is another one
       'SERVER'  the server is another one or restarted: adds that it had acknowledged may be missing in staging
       'LENGTH'  the staged filter is not there whole
       'OK'
]]
--- @include "swap-head"
--- @include "cf-proof"
--- @include "cf-counts"
--- @include "forget-staging"
--- @include "now"
--- @include "expire-retired"
--- @include "go-live"
local meta = KEYS[1]
local refusal = beginSwap('token')
if refusal then return refusal end
local canaries = tonumber(ARGV[6])
if not isProved(KEYS[3], KEYS[4], 7, canaries) then return 'LENGTH' end
redis.call('PERSIST', KEYS[3])
redis.call('PERSIST', KEYS[4])
expireRetired(5)
forgetStaging(meta)
redis.call('HSET', meta, 'written', ARGV[2] .. ' ' .. countsOf(KEYS[3], KEYS[4]))
goLive(meta, 'ids', ARGV[5], 'liveSince', string.format('%d', now()), unpack(ARGV, 7 + canaries))
return 'OK'

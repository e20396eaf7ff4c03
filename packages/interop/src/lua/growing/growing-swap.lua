--[[
Puts a staged generation of a filter that grows in the place of the live one.

KEYS[1]    meta
KEYS[2]    lease
KEYS[3..]  segments of the staged generation, which has one layer; then those of the live one, which is retired
ARGV[1]    token of the lease
ARGV[2]    token of the staged generation
ARGV[3]    run id of the server that it was staged on, '' when it may not be asked
ARGV[4]    token that the live generation must have, '' for none
ARGV[5]    length of every segment but the last, in bytes
ARGV[6]    length of the last one
ARGV[7]    ids that the build read
ARGV[8]    number of segments of the staged generation
ARGV[9..]  fields and values of the new generation

Reply: 'LEASE'   the lease is not the caller's
       'NOMETA'  meta is missing
       'STALE'   another staging was published, or the live generation is another one
       'SERVER'  the server is another one or restarted: adds that it had acknowledged may be missing in staging
       'LENGTH'  a staged segment is not there whole
       'OK'
]]
--- @include "swap-head"
--- @include "whole-segments"
--- @include "expire-retired"
--- @include "forget-staging"
--- @include "go-live"
local meta = KEYS[1]
local refusal, known = beginSwap('token', 'pending.layer:' .. ARGV[2])
if refusal then return refusal end
local last = 2 + ARGV[8]
if not areWhole(3, last, ARGV[5], ARGV[6]) then return 'LENGTH' end
for i = 3, last do
  redis.call('PERSIST', KEYS[i])
end
expireRetired(last + 1)
forgetStaging(meta, '^layer%.')
goLive(meta, 'ids', ARGV[7], 'layer.0', ARGV[7] + (known[3] or 0), unpack(ARGV, 9))
return 'OK'

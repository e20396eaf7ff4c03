--[[
Adds ids of the journal to the staged filter.

KEYS[1]  lease
KEYS[2]  journal
KEYS[3]  the staged filter
ARGV[1]  token of the lease
ARGV[2]  ids of the journal to pass over
ARGV[3]  ids to add at most
ARGV[4]  life of both, in milliseconds

Reply: 'LEASE'   the lease is not the caller's
       'LENGTH'  the staged filter is not there
       { ids that were read, the reply of BF.INSERT }
]]
--- @include "lease"
--- @include "bf-items"
--- @include "bf-staging"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
-- The first element is the token of the staging.
local from = tonumber(ARGV[2]) + 1
local ids = redis.call('LRANGE', KEYS[2], from, from + tonumber(ARGV[3]) - 1)
if #ids == 0 then return { 0, {} } end
local reply = insertItems(KEYS[3], unpack(ids))
local refusal = refusalOf(reply, KEYS[3])
if refusal then return refusal end
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('PEXPIRE', KEYS[3], ARGV[4])
return { #ids, reply }

--[[
Adds ids to the staged filter, on a server without BF.LOADCHUNK.

KEYS[1]   lease
KEYS[2]   the staged filter
ARGV[1]   token of the lease
ARGV[2]   life of the staged filter, in milliseconds
ARGV[3..] ids

Reply: 'LEASE'   the lease is not the caller's
       'LENGTH'  the staged filter is not there
       the reply of BF.INSERT
]]
--- @include "lease"
--- @include "bf-items"
--- @include "bf-staging"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
local reply = insertItems(KEYS[2], unpack(ARGV, 3))
local refusal = refusalOf(reply, KEYS[2])
if refusal then return refusal end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return reply

--[[
Begins the journal of a staged filter: only one that has begun takes ids.

KEYS[1]  lease
KEYS[2]  journal
KEYS[3]  the live filter
ARGV[1]  token of the lease
ARGV[2]  token of the staging, the journal's first element
ARGV[3]  life of the journal, in milliseconds

Reply: 'LEASE'  the lease is not the caller's
       'TYPE'   the live key is something else, which the swap would destroy
       'OK'
]]
--- @include "lease"
--- @include "bf-other"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
if isOtherThanBf(KEYS[3]) then return 'TYPE' end
redis.call('DEL', KEYS[2])
redis.call('RPUSH', KEYS[2], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 'OK'

--[[
Writes a chunk of a local filter to the staged one. The chunk of iterator 1, the header, creates it.

KEYS[1]  lease
KEYS[2]  the staged filter
ARGV[1]  token of the lease
ARGV[2]  iterator of the chunk
ARGV[3]  the chunk
ARGV[4]  life of the staged filter, in milliseconds

Reply: 'LEASE' when the lease is not the caller's, 'LENGTH' when the staged filter is not there whole, else 'OK'
]]
--- @include "lease"
--- @include "bf-staging"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
if ARGV[2] == '1' then redis.call('UNLINK', KEYS[2]) end
local reply = redis.pcall('BF.LOADCHUNK', KEYS[2], ARGV[2], ARGV[3])
if reply.err then return ARGV[2] == '1' and reply or refusalOf(reply, KEYS[2]) end
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 'OK'

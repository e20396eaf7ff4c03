--[[
Appends a piece of a local filter to the scratch string of a rebuild.

KEYS[1]  lease
KEYS[2]  scratch string
ARGV[1]  token of the lease
ARGV[2]  length that the scratch string must have now, in bytes
ARGV[3]  the piece
ARGV[4]  life of the scratch string, in milliseconds

Reply: 'LEASE' when the lease is not the caller's, 'LENGTH' when the scratch string has another length, else 'OK'
]]
--- @include "lease"
--- @include "append-once"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
return appendOnce(KEYS[2], tonumber(ARGV[2]), ARGV[3], ARGV[4])

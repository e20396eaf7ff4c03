--[[
Removes the live string that a staging made, if nothing was added to it: peers read a missing one in the same way.

KEYS[1]  lease
KEYS[2]  meta
KEYS[3]  the live string
ARGV[1]  token of the lease
ARGV[2]  proof of the staged string: length in bytes (4), number of canaries (1), the byte offset of each (4), all big-endian

Reply: 'LEASE' when the lease is not the caller's, else 'OK'
]]
--- @include "lease"
--- @include "ask"
--- @include "bitmap-canaries"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
if type(ask('HGET', KEYS[2], 'token')) == 'string' then return 'OK' end
local live = KEYS[3]
local _, canaries = partsOf(ARGV[2])
if hasCanaries(live, ARGV[2]) and redis.call('BITCOUNT', live) == 8 * canaries then redis.call('UNLINK', live) end
return 'OK'

--[[
Appends empty blocks with their tag to a staging segment.

KEYS[1]  lease
KEYS[2]  staging segment
ARGV[1]  token of the lease
ARGV[2]  tag, hexadecimal
ARGV[3]  length that the segment must have now, in bytes
ARGV[4]  blocks to append
ARGV[5]  life of the segment, in milliseconds

Reply: 'LEASE' when the lease is not the caller's, 'LENGTH' when the segment has another length, else 'OK'
]]
--- @include "lease"
--- @include "append-once"
if not holdsLease(KEYS[1], ARGV[1]) then return 'LEASE' end
local block = struct.pack('<I4', tonumber(ARGV[2], 16)) .. string.rep('\0', 252)
return appendOnce(KEYS[2], tonumber(ARGV[3]), string.rep(block, tonumber(ARGV[4])), ARGV[5])

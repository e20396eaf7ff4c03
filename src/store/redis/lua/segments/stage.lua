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
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'LEASE' end
local from, bytes = tonumber(ARGV[3]), ARGV[4] * 256
local length = redis.call('STRLEN', KEYS[2])
-- A command that the client sent again after a broken connection has been carried out already.
if length == from + bytes then return 'OK' end
if length ~= from then return 'LENGTH' end
local block = struct.pack('<I4', tonumber(ARGV[2], 16)) .. string.rep('\0', 252)
redis.call('APPEND', KEYS[2], string.rep(block, tonumber(ARGV[4])))
redis.call('PEXPIRE', KEYS[2], ARGV[5])
return 'OK'

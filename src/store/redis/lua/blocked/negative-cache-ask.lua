--[[
Tells which ids the database denied lately. A bucket of the table has 108 bytes, little-endian: the tag of the table (4), the
server's time in milliseconds at which the rows of all ids added to it are visible (8), and four denials, each the time at which
it ends (8) and the digest of its id (16).

KEYS[1]  meta
KEYS[2]  table of denials
ARGV[1]  name of the table as the caller knows it
ARGV[2]  records of 20 bytes, one for each id: bucket, big-endian (4), digest (16)

Reply: 'STALE' when meta names another table
       'LOST'  when a bucket is not there, or is of another table
       { time of the server in milliseconds, a character for each id: '1' when it is denied }
]]
if redis.pcall('HGET', KEYS[1], 'denials') ~= ARGV[1] then return 'STALE' end
local tag = tonumber(string.sub(ARGV[1], 1, 8), 16)
local time = redis.call('TIME')
local now = math.floor(time[1] * 1000 + time[2] / 1000)
local flags = {}
for at = 1, #ARGV[2], 20 do
  local number, digest = struct.unpack('>I4c16', ARGV[2], at)
  local from = number * 108
  local bucket = redis.pcall('GETRANGE', KEYS[2], string.format('%d', from), string.format('%d', from + 107))
  if type(bucket) ~= 'string' or #bucket ~= 108 or struct.unpack('<I4', bucket) ~= tag then return 'LOST' end
  local flag = '0'
  for entry = 13, 85, 24 do
    if string.sub(bucket, entry + 8, entry + 23) == digest and struct.unpack('<d', bucket, entry) > now then flag = '1' end
  end
  flags[#flags + 1] = flag
end
return { string.format('%d', now), table.concat(flags) }

--[[
Notes that the database denied an id. The form of the table is told in `denied`.

KEYS[1]  meta
KEYS[2]  table of denials
ARGV[1]  name of the table as the caller knows it
ARGV[2]  bucket
ARGV[3]  digest
ARGV[4]  time of the server, in milliseconds, before the database was asked
ARGV[5]  life of the denial, in milliseconds

Reply: 'STALE'  meta names another table
       'LOST'   the bucket is not there, or is of another table
       'MARKED' the row of an id of this bucket may not have been visible when the database was asked
       'OK'
]]
if redis.pcall('HGET', KEYS[1], 'denials') ~= ARGV[1] then return 'STALE' end
local from = ARGV[2] * 108
local bucket = redis.pcall('GETRANGE', KEYS[2], string.format('%d', from), string.format('%d', from + 107))
if type(bucket) ~= 'string' or #bucket ~= 108 then return 'LOST' end
local tag, visibleAt = struct.unpack('<I4d', bucket)
if tag ~= tonumber(string.sub(ARGV[1], 1, 8), 16) then return 'LOST' end
--safety:denial-refusal
if visibleAt >= tonumber(ARGV[4]) then return 'MARKED' end
--end
local place, earliest
for entry = 13, 85, 24 do
  local ends = struct.unpack('<d', bucket, entry)
  if string.sub(bucket, entry + 8, entry + 23) == ARGV[3] then ends = -1 end
  if not earliest or ends < earliest then place, earliest = entry, ends end
end
local time = redis.call('TIME')
local ends = math.floor(time[1] * 1000 + time[2] / 1000) + ARGV[5]
redis.call('SETRANGE', KEYS[2], string.format('%d', from + place - 1), struct.pack('<d', ends) .. ARGV[3])
return 'OK'

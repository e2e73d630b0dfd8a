1 | age:30 city
-1 2.5 'tag |a x:1 y |b:0.5 z:3
0 1 0|c:2 w x:-4
